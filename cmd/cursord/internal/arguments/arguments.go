// Package arguments checks the arguments and flags of commands, and says what is wrong with them and what was meant.
package arguments

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/config/similar"
	"cursord/editors"
)

// Many is the most for Takes if a command has no limit.
const Many = 1 << 30

// Takes checks the number of a command's arguments. It names a missing argument as the command's Use does.
func Takes(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("%s is missing", nameOf(c, len(args)))
		case len(args) > most && most == 0:
			return fmt.Errorf("%s takes no arguments, and was given %q", c.CommandPath(), args[0])
		case len(args) > most:
			return fmt.Errorf("%q is one argument too many", args[most])
		}
		return nil
	}
}

// nameOf returns the name of a command's argument at a place, as its Use has it.
func nameOf(c *cobra.Command, place int) string {
	var names []string
	words := strings.Fields(c.Use)[1:]
	for i := 0; i < len(words); i++ {
		switch word := words[i]; {
		case word == "--":
		case strings.HasPrefix(word, "-"):
			i++ // a flag, and its value
		default:
			name, _, _ := strings.Cut(strings.Trim(word, "[]."), "[") // FILE of FILE[:LINE]
			names = append(names, strings.ReplaceAll(name, "|", " or "))
		}
	}
	if len(names) == 0 {
		return "the argument"
	}
	return names[min(place, len(names)-1)]
}

// takeEmpty are the commands whose arguments may be empty, because they are texts.
var takeEmpty = []string{"run", "call", "set", "check-client", "fake-agent"}

// nameFlags are the flags whose values name something.
var nameFlags = []string{"session", "resume", "chat", "turn", "file", "image", "add-dir", "workspace"}

// RefuseEmpty has a command and those below it refuse empty arguments, and flags that name something with an empty value: in a script, that
// is a variable that is not set, and must not mean the same as no name, which often is everything.
func RefuseEmpty(root *cobra.Command) {
	for _, c := range root.Commands() {
		RefuseEmpty(c)
		if check := c.Args; check != nil {
			c.Args = func(c *cobra.Command, args []string) error {
				if err := empty(c, args); err != nil {
					return err
				}
				return check(c, args)
			}
		}
	}
}

func empty(c *cobra.Command, args []string) error {
	const advice = "is empty: is a variable not set?"
	if i := slices.Index(args, ""); i >= 0 && !slices.Contains(takeEmpty, c.Name()) {
		return fmt.Errorf("%s %s", nameOf(c, i), advice)
	}
	for _, name := range nameFlags {
		f := c.Flags().Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		values := []string{f.Value.String()}
		if list, is := f.Value.(pflag.SliceValue); is {
			values = list.GetSlice()
		}
		if slices.Contains(values, "") {
			return fmt.Errorf("--%s %s", name, advice)
		}
	}
	return nil
}

// OfGroup rejects arguments of a command that only has subcommands, and suggests a subcommand.
func OfGroup(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	if !c.HasParent() && strings.ContainsAny(args[0], " \n") {
		return fmt.Errorf("unknown command %q; to give the agent a prompt: cursord run %[1]q", term.Clean(args[0]))
	}
	return fmt.Errorf("unknown command %q for %q%s", term.Clean(args[0]), c.CommandPath(), similar.DidYouMean(args[0], names))
}

// WrongFlag suggests the flag that was meant, or says which values the flag Takes.
func WrongFlag(c *cobra.Command, err error) error {
	if wrong := (*pflag.InvalidValueError)(nil); errors.As(err, &wrong) {
		if errors.As(err, new(*strconv.NumError)) {
			return fmt.Errorf("--%s must be a number, not %q", wrong.GetFlag().Name, term.Clean(wrong.GetValue()))
		}
	}
	if args := c.Flags().Args(); c.HasSubCommands() && len(args) > 0 && c.Args != nil {
		if wrong := c.Args(c, args); wrong != nil {
			return wrong // the flag may well be right, and the command in front of it wrong
		}
	}
	if number := (*pflag.NotExistError)(nil); errors.As(err, &number) && strings.Trim(number.GetSpecifiedName(), "0123456789") == "" {
		return fmt.Errorf("%w; an argument that begins with - goes behind --", err)
	}
	unknown := (*pflag.NotExistError)(nil)
	if !errors.As(err, &unknown) || len(unknown.GetSpecifiedName()) < 2 {
		return err
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return fmt.Errorf("%w%s", err, similar.DidYouMean("--"+unknown.GetSpecifiedName(), names))
}

// OfHelp checks that the command to describe exists.
func OfHelp(c *cobra.Command, args []string) error {
	found, rest, _ := c.Root().Find(args)
	return OfGroup(found, rest)
}

// OfEditors takes the name of an editor that has a plugin. (Helix has a command of its own.)
func OfEditors(c *cobra.Command, args []string) error {
	if err := Takes(1, 1)(c, args); err != nil || slices.Contains(editors.Names, args[0]) {
		return err
	}
	return editors.Unknown(args[0])
}
