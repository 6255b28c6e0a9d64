package natsserver

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A Documented server is that of docs/fleet.md for several machines, on the loopback.
type Documented struct {
	*Server
	Configuration string
}

// StartDocumented runs the documented commands that make keys, and then some more, and starts the server with the documented configuration
// after a change.
func StartDocumented(t testing.TB, more string, change func(configuration string) string) *Documented {
	t.Helper()
	module, err := goCommand("env", "GOMOD")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(module), "docs", "fleet.md"))
	if err != nil {
		t.Fatal(err)
	}
	nk, err := tool("nk")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	shell := exec.Command("sh", "-ec", block(t, string(text), "keys")+more)
	shell.Dir, shell.Env = folder, append(os.Environ(), "PATH="+filepath.Dir(nk)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if out, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("the keys of docs/fleet.md: %v\n%s", err, out)
	}
	d := &Documented{Server: &Server{folder: folder}, Configuration: change(block(t, string(text), "server.conf"))}
	d.Configure(t, d.Configuration)
	d.Server = StartWith(t, folder, "-c", "server.conf")
	return d
}

// block returns the block of a document with some comment as its first line.
func block(t testing.TB, text, first string) string {
	t.Helper()
	_, block, found := strings.Cut(text, "\n    # "+first+"\n")
	if !found {
		t.Fatalf("docs/fleet.md has no block %q", first)
	}
	var lines strings.Builder
	for line := range strings.Lines(block) {
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "    ") {
			break
		}
		lines.WriteString(line)
	}
	return lines.String()
}

// Configure writes a configuration for the next start.
func (d *Documented) Configure(t testing.TB, configuration string) {
	t.Helper()
	if err := os.WriteFile(d.File("server.conf"), []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
}

// File returns the path of a file beside the configuration.
func (d *Documented) File(name string) string { return filepath.Join(d.folder, name) }

// URL returns the address for a role; "": without credentials.
func (d *Documented) URL(role string) string {
	address := "tls://" + d.Address + "?authority=" + d.File("server.pem")
	if role == "" {
		return address
	}
	return address + "&credentials=" + d.File(role+".seed")
}
