package process

import "testing"

// TestQuotedForTheShellsOfWindows: cmd and PowerShell take a printed command as it is; cmd knows no single quotes.
// scripts/wine.sh runs it.
func TestQuotedForTheShellsOfWindows(t *testing.T) {
	for word, want := range map[string]string{
		`dir\kernel.yaml`:    `dir\kernel.yaml`,
		`C:\logs\k.jsonl`:    `C:\logs\k.jsonl`,
		`C:\Bücher\`:         `C:\Bücher\`,
		`my dir\`:            `"my dir\\"`,
		`my dir\k.yaml`:      `"my dir\k.yaml"`,
		"energy<=1.1":        `"energy<=1.1"`,
		"block_size_x=32,64": `"block_size_x=32,64"`,
		`spec.x="two words"`: `"spec.x=\"two words\""`,
		"a&b":                `"a&b"`,
		"it's":               `"it's"`,
		"":                   `""`,
	} {
		if got := Quoted(word); got != want {
			t.Errorf("%q became %s, want %s", word, got, want)
		}
	}
}
