package command

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (p Process) version() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Say which version this is",
		Example: `  gatehouse version`,
		Args:    takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), p.versionLine())
			return err
		},
	}
}

func (p Process) versionLine() string {
	return fmt.Sprintf("gatehouse %s %s %s/%s", p.versionName(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// versionName is the version that the linker was given, else the module's, else the commit's, else "devel".
func (p Process) versionName() string {
	if p.Version != "" {
		return p.Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision := ""
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			revision = setting.Value
		}
	}
	if info.Main.Version == "(devel)" { // built from a work tree without a stamp
		info.Main.Version = ""
	}
	return cmp.Or(info.Main.Version, revision, "devel")
}
