package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// How long a part may take to stop before it is killed.
const stopGrace = 15 * time.Second

// part is one running child process: a part of the control plane.
type part struct {
	name    string
	command *exec.Cmd
	// exited is closed once the process is gone and reaped.
	exited chan struct{}
}

// startPart runs this binary's verb `name` with its output in dir/name.log.
//
// The child has a process group of its own, so that a Ctrl-C in a terminal
// reaches only the parent, which then stops the parts in order.
func startPart(dir, name string, args ...string) (*part, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()

	command := exec.Command(binary, append([]string{name}, args...)...)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = childAttributes()

	p := &part{name: name, command: command, exited: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel ends a child when the *thread* that started it ends.
		runtime.LockOSThread()
		err := command.Start()
		started <- err
		if err == nil {
			_ = command.Wait()
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

func (p *part) pid() int { return p.command.Process.Pid }

func (p *part) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// stop ends the process and waits until it is gone.
func (p *part) stop() {
	_ = p.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(stopGrace):
		fmt.Fprintf(os.Stderr, "controlplane: %s (pid %d) did not stop within %s, killed\n", p.name, p.pid(), stopGrace)
		_ = p.command.Process.Kill()
		<-p.exited
	}
}
