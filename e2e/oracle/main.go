// Command oracle answers questions with upstream's own code: the structured allocator and the CEL
// compiler of k8s.io/dynamic-resource-allocation, apimachinery's quantities, and semantic versions. One
// JSON question a line on standard input, one JSON answer a line on standard output, in the same order.
//
// go.mod names the release that is emulated by default. go-1.34.mod builds the same sources against
// 1.34's modules:
//
//	go build -modfile=go-1.34.mod -tags v1_34 -o bin/oracle-1.34 .
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// question is one line of input; exactly one field is set.
type question struct {
	Allocate *allocateQuestion `json:"allocate,omitempty"`
	CEL      *celQuestion      `json:"cel,omitempty"`
	Quantity *quantityQuestion `json:"quantity,omitempty"`
	Semver   *semverQuestion   `json:"semver,omitempty"`
}

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func serve() error {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	answers := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(answers)
	encoder.SetEscapeHTML(false)
	decoder := json.NewDecoder(lines)
	for decoder.More() {
		var asked question
		if err := decoder.Decode(&asked); err != nil {
			return fmt.Errorf("read a question: %w", err)
		}
		if err := encoder.Encode(answer(asked)); err != nil {
			return fmt.Errorf("write an answer: %w", err)
		}
		// The asker waits for each answer.
		if err := answers.Flush(); err != nil {
			return fmt.Errorf("write an answer: %w", err)
		}
	}
	return nil
}

func answer(asked question) any {
	switch {
	case asked.Allocate != nil:
		return asked.Allocate.answer()
	case asked.CEL != nil:
		return asked.CEL.answer()
	case asked.Quantity != nil:
		return asked.Quantity.answer()
	case asked.Semver != nil:
		return asked.Semver.answer()
	default:
		return map[string]string{"error": "a question has one of the fields allocate, cel, quantity, semver"}
	}
}
