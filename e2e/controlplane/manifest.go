package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// paths is a flag that may be given several times.
type paths []string

func (p *paths) String() string         { return strings.Join(*p, ",") }
func (p *paths) Set(value string) error { *p = append(*p, value); return nil }

// readManifests reads the objects of files, of the YAML and JSON files in
// folders, and of standard input (`-`), in this order, lists taken apart.
func readManifests(paths []string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, path := range paths {
		files, err := manifestFiles(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			found, err := readManifest(file)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			objects = append(objects, found...)
		}
	}
	return objects, nil
}

func manifestFiles(path string) ([]string, error) {
	if path == "-" {
		return []string{path}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path) // sorted by name
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		if slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name())) {
			files = append(files, filepath.Join(path, entry.Name()))
		}
	}
	return files, nil
}

func readManifest(file string) ([]*unstructured.Unstructured, error) {
	input := os.Stdin
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer opened.Close()
		input = opened
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bufio.NewReader(input), 4096)
	var objects []*unstructured.Unstructured
	for {
		var document json.RawMessage
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(document) == 0 {
			continue // nothing but comments
		}
		var content map[string]any
		// Unlike encoding/json, this keeps integers integers.
		if err := utiljson.Unmarshal(document, &content); err != nil {
			return nil, err
		}
		if len(content) == 0 {
			continue // null
		}
		object := &unstructured.Unstructured{Object: content}
		if !object.IsList() {
			objects = append(objects, object)
			continue
		}
		err = object.EachListItem(func(item runtime.Object) error {
			objects = append(objects, item.(*unstructured.Unstructured))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
}
