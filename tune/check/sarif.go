package check

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/figure"
)

// An object is one of JSON.
type object map[string]any

// sarif returns the report as SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/). A finding without a line stands at the first
// line of the specification, since code hosts show no result without one.
func (r *Report) sarif() object {
	rule := func(k Kind) string { return strings.ReplaceAll(string(k), " ", "-") }
	rules := each.Of(kinds, func(k kindAbout) object {
		return object{"id": rule(k.Kind), "shortDescription": object{"text": k.about}}
	})
	results := []object{}
	for _, f := range r.Findings {
		level := "error"
		if f.Note {
			level = "note"
		}
		text := fmt.Sprintf("%s: %s (kernel %s, %s, the smallest: %s)", f.Kind, f.Text, f.Kernel, r.share(f), f.Configurations[0])
		var locations []object
		for _, l := range f.Where {
			region := object{"startLine": l.Line}
			if l.Column > 0 {
				region["startColumn"] = l.Column
			}
			locations = append(locations, sarifLocation(r.path(l.File), region))
		}
		if locations == nil {
			locations = []object{sarifLocation(filepath.ToSlash(r.Spec), object{"startLine": 1})}
		}
		result := object{"ruleId": rule(f.Kind), "level": level, "message": object{"text": text}, "locations": locations[:1]}
		if len(locations) > 1 {
			result["relatedLocations"] = locations[1:]
		}
		results = append(results, result)
	}
	invocation := object{"executionSuccessful": r.Checked() > 0 && r.Stopped == ""}
	var notifications []object
	for _, u := range r.unchecked() {
		text := figure.Count(len(u.configurations), "configuration") + " not checked: " + u.why
		notifications = append(notifications, object{"level": "warning", "message": object{"text": text}})
	}
	if len(notifications) > 0 {
		invocation["toolExecutionNotifications"] = notifications
	}
	tool := object{"driver": object{"name": "ndtune check", "informationUri": "https://github.com/ndtune/ndtune", "rules": rules}}
	return object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json",
		"version": "2.1.0",
		"runs":    []object{{"tool": tool, "results": results, "invocations": []object{invocation}}},
	}
}

func sarifLocation(file string, region object) object {
	return object{"physicalLocation": object{"artifactLocation": object{"uri": file}, "region": region}}
}
