package command

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMemoryOfTheContainer(t *testing.T) {
	for _, row := range []struct {
		name  string
		files []string // "": it isn't there
		want  int64
	}{
		{"version 2", []string{"536870912\n", ""}, 536870912},
		{"version 2 without a limit", []string{"max\n", ""}, 0},
		{"version 1", []string{"", "536870912\n"}, 536870912},
		{"version 1 without a limit", []string{"", "9223372036854771712\n"}, 0},
		{"no cgroups", []string{"", ""}, 0},
		{"nonsense", []string{"-1\n", ""}, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			var files []string
			for i, text := range row.files {
				file := filepath.Join(t.TempDir(), string(rune('a'+i)))
				if text != "" {
					if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				files = append(files, file)
			}
			if got, found := containerMemory(files); found != (row.want > 0) || found && got != row.want {
				t.Errorf("got %d, %v, want %d", got, found, row.want)
			}
		})
	}
}
