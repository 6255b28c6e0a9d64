package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/search"
)

// commandPrefix begins a value of --strategy that is a program of the user's own.
const commandPrefix = "command:"

// strategyForms describes the values of --strategy beside the names.
const strategyForms = "options follow the name, NAME:OPTION=VALUE,OPTION=VALUE; command:COMMAND, such as 'command:python3 walk.py', " +
	"is a program of your own, which is asked and told in lines of JSON (docs/strategy-command.md)"

// A strategyChoice is a strategy that --strategy names.
type strategyChoice struct {
	name    string            // a program with commandPrefix
	options map[string]string // of ndtune's strategies
	command []string          // the words of the program; nil: one of ndtune's strategies
}

var strategyOption = regexp.MustCompile(`^\s*\w+\s*=`)

// parseStrategies reads values of --strategy: each is a program, or a list of strategies with commas between them. A piece
// of a list that is an option belongs to the strategy before it.
func parseStrategies(texts []string) ([]strategyChoice, error) {
	var all []strategyChoice
	for _, text := range texts {
		if command, ok := strings.CutPrefix(text, commandPrefix); ok {
			words, err := commandWords(command)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", text, err)
			}
			all = append(all, strategyChoice{name: text, command: words})
			continue
		}
		for i, piece := range strings.Split(text, ",") {
			name, option, hasOption := strings.Cut(piece, ":")
			switch {
			case i > 0 && strategyOption.MatchString(piece):
				option, hasOption = piece, true
			case strings.TrimSpace(name) == "" || strategyOption.MatchString(piece):
				return nil, fmt.Errorf("%s: the name of a strategy is missing (there are %s)", text, strategyNames())
			default:
				all = append(all, strategyChoice{name: strings.TrimSpace(name), options: map[string]string{}})
			}
			last := all[len(all)-1]
			if !hasOption {
				continue
			}
			if err := last.setOption(option); err != nil {
				return nil, fmt.Errorf("%s: option %w", last.name, err)
			}
		}
	}
	return all, nil
}

// setOption reads OPTION=VALUE.
func (s strategyChoice) setOption(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return fmt.Errorf("%s: want OPTION=VALUE", text)
	}
	if _, twice := s.options[name]; twice {
		return fmt.Errorf("%s is given twice", name)
	}
	s.options[name] = strings.TrimSpace(value)
	return nil
}

// check refuses options that the strategy does not have, and one that does not take so many objectives.
func (s strategyChoice) check(objectives int) error {
	if s.command != nil {
		return nil
	}
	return search.Check(s.name, s.options, objectives)
}

// commandWords splits a command, whose program must exist.
func commandWords(text string) ([]string, error) {
	words, err := process.Words(text)
	if err == nil {
		_, err = exec.LookPath(words[0])
	}
	return words, err
}

func strategyNames() string { return strings.Join(search.Names(), ", ") }

// learningStrategies returns the strategies that learn from priors.
func learningStrategies(objectives int) []string {
	return slices.DeleteFunc(search.Names(), func(name string) bool { return search.CheckPriors(name, objectives) != nil })
}
