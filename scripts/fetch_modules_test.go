// Package scripts holds what the Makefile calls. Its tests run these scripts.
package scripts

import (
	"archive/zip"
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestFetchModules fetches two modules with an empty cache from a proxy that refuses some.
func TestFetchModules(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are for a Unix shell")
	}
	const uses = "package main\nimport (_ \"example.com/one\"; _ \"example.com/one/more\"; _ \"example.com/two\")\nfunc main() {}\n"
	for _, test := range []struct {
		name   string
		refuse string // the start of paths that are answered with 403
		proxy  string // instead of ours
		main   string
		sum    string
		fails  bool
		want   []string // parts of what it says, each of which occurs once
	}{
		{name: "all are served", main: uses},
		{
			name: "one is refused", main: uses, refuse: "/example.com/one/@v/v1.0.0.zip", fails: true,
			want: []string{"cannot fetch example.com/one@v1.0.0: ", "403 Forbidden", "go list -m -versions example.com/one, then go get example.com/one@VERSION", "GOPROXY=direct", "try again later"},
		},
		{
			name: "its go.mod is refused", main: uses, refuse: "/example.com/two/@v/v1.0.0.mod", fails: true,
			want: []string{"cannot fetch example.com/two@v1.0.0: ", "403 Forbidden", "go get example.com/two@VERSION"},
		},
		{
			name: "both are refused", main: uses, refuse: "/example.com/", fails: true,
			want: []string{"cannot fetch example.com/one@v1.0.0: "},
		},
		{
			name: "no proxy", main: uses, proxy: "off", fails: true,
			want: []string{"cannot fetch example.com/one: module lookup disabled by GOPROXY=off", "Modules come from GOPROXY=off."},
		},
		// The go command explains these.
		{name: "another content", main: uses, sum: "example.com/one v1.0.0 h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"},
		{name: "a mistake in the code", main: "package main\nfunc main() {\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if test.refuse != "" && strings.HasPrefix(r.URL.Path, test.refuse) {
					http.Error(w, "refused", http.StatusForbidden)
					return
				}
				serveModule(w, r)
			}))
			defer proxy.Close()
			if test.proxy == "" {
				test.proxy = proxy.URL
			}
			folder := t.TempDir()
			for name, text := range map[string]string{
				"go.mod":  "module example.com/main\n\ngo 1.21\n\nrequire (\n\texample.com/one v1.0.0\n\texample.com/two v1.0.0\n)\n",
				"go.sum":  test.sum,
				"main.go": test.main,
			} {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			script, err := filepath.Abs("fetch-modules.sh")
			if err != nil {
				t.Fatal(err)
			}
			command := exec.Command(script, "go", "./...")
			command.Dir = folder
			command.Env = append(os.Environ(),
				"GOMODCACHE="+t.TempDir(), "GOFLAGS=-mod=mod -modcacherw", "GOPROXY="+test.proxy, "GONOSUMDB=*", "GOWORK=off", "GOTOOLCHAIN=local")
			output, err := command.CombinedOutput()
			said := string(output)
			if exit := (*exec.ExitError)(nil); (err != nil) != test.fails || err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
				t.Errorf("it ends with %v:\n%s", err, said)
			}
			for _, want := range test.want {
				if strings.Count(said, want) != 1 {
					t.Errorf("it says %q %d times:\n%s", want, strings.Count(said, want), said)
				}
			}
			if !test.fails && strings.Contains(said, "fetch-modules") {
				t.Errorf("it says:\n%s", said)
			}
		})
	}
}

// serveModule answers as a module proxy that has every module at v1.0.0, with the packages . and
// more.
func serveModule(w http.ResponseWriter, r *http.Request) {
	module, file, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/@v/")
	mod := "module " + module + "\n\ngo 1.21\n"
	switch file {
	case "v1.0.0.info":
		_, _ = w.Write([]byte(`{"Version":"v1.0.0"}`))
	case "v1.0.0.mod":
		_, _ = w.Write([]byte(mod))
	case "v1.0.0.zip":
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, f := range []struct{ name, text string }{{"go.mod", mod}, {"one.go", "package one\n"}, {"more/more.go", "package more\n"}} {
			part, err := z.Create(module + "@v1.0.0/" + f.name)
			if err == nil {
				_, err = part.Write([]byte(f.text))
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		if err := z.Close(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write(b.Bytes())
	default:
		http.NotFound(w, r)
	}
}
