package main

import "github.com/blang/semver/v4"

// semverQuestion asks about pairs of versions.
type semverQuestion struct {
	Pairs [][2]string `json:"pairs"`
}

// semverAnswer is about one pair.
type semverAnswer struct {
	// Error says why A is no version.
	Error string `json:"error,omitempty"`
	// Numbers are A's major, minor and patch.
	Numbers *[3]uint64 `json:"numbers,omitempty"`
	// Compare is of A and B, if both are versions.
	Compare *int `json:"compare,omitempty"`
}

func (q *semverQuestion) answer() any {
	answers := make([]semverAnswer, 0, len(q.Pairs))
	for _, pair := range q.Pairs {
		answers = append(answers, aboutVersions(pair[0], pair[1]))
	}
	return map[string]any{"pairs": answers}
}

func aboutVersions(textA, textB string) semverAnswer {
	a, err := semver.Parse(textA)
	if err != nil {
		return semverAnswer{Error: err.Error()}
	}
	out := semverAnswer{Numbers: &[3]uint64{a.Major, a.Minor, a.Patch}}
	if b, err := semver.Parse(textB); err == nil {
		order := a.Compare(b)
		out.Compare = &order
	}
	return out
}
