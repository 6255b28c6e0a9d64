package session

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"

	"github.com/ndtune/ndtune/tune/process"
	"github.com/ndtune/ndtune/tune/search"
)

// commandPrefix begins a value of --strategy that is a program of the user's own.
const commandPrefix = "command:"

var strategyOption = regexp.MustCompile(`^\s*\w+\s*=`)

// ParseStrategies reads values of --strategy: each is a program, or a list of strategies with commas between them. A piece
// of a list that is an option belongs to the strategy before it.
func ParseStrategies(texts []string) ([]Strategy, error) {
	var all []Strategy
	for _, text := range texts {
		if command, ok := strings.CutPrefix(text, commandPrefix); ok {
			words, err := commandWords(command)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", text, err)
			}
			all = append(all, Strategy{Name: text, Command: words})
			continue
		}
		for i, piece := range strings.Split(text, ",") {
			name, option, hasOption := strings.Cut(piece, ":")
			switch {
			case i > 0 && strategyOption.MatchString(piece):
				option, hasOption = piece, true
			case strings.TrimSpace(name) == "" || strategyOption.MatchString(piece):
				return nil, fmt.Errorf("%s: the name of a strategy is missing (there are %s)", text, strings.Join(search.Names(), ", "))
			default:
				all = append(all, Strategy{Name: strings.TrimSpace(name), Options: map[string]string{}})
			}
			last := all[len(all)-1]
			if !hasOption {
				continue
			}
			if err := setOption(last.Options, option); err != nil {
				return nil, fmt.Errorf("%s: option %w", last.Name, err)
			}
		}
	}
	return all, nil
}

// setOption reads OPTION=VALUE.
func setOption(options map[string]string, text string) error {
	name, value, ok := strings.Cut(text, "=")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return fmt.Errorf("%s: want OPTION=VALUE", text)
	}
	if _, twice := options[name]; twice {
		return fmt.Errorf("%s is given twice", name)
	}
	options[name] = strings.TrimSpace(value)
	return nil
}

// commandWords splits a command, whose program must exist.
func commandWords(text string) ([]string, error) {
	words, err := process.Words(text)
	if err == nil {
		_, err = exec.LookPath(words[0])
	}
	return words, err
}
