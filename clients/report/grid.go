package report

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// grid is a table before it is known how it is written: its head, its lines, of
// which empty ones part groups, and sentences below it. Without a head it is the
// sentences alone.
type grid struct {
	head  []string
	lines [][]string
	notes []string
}

// text aligns the columns to the right.
func (g *grid) text() string {
	notes := make([]string, len(g.notes))
	for i, note := range g.notes {
		notes[i] = oneLine(note)
	}
	if len(g.head) == 0 {
		return strings.Join(notes, "\n") + "\n"
	}
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, line := range append([][]string{g.head}, g.lines...) {
		for _, text := range line {
			_, _ = fmt.Fprint(tw, oneLine(text), "\t") // into memory, without errors
		}
		_, _ = fmt.Fprintln(tw)
	}
	_ = tw.Flush()
	if len(notes) > 0 {
		b.WriteString("\n" + strings.Join(notes, "\n") + "\n")
	}
	return b.String()
}

// markdown is a table as GitHub reads it: the first column to the left, the others
// to the right, the notes as a list.
func (g *grid) markdown() string {
	var b strings.Builder
	row := func(line []string) {
		for _, text := range line {
			b.WriteString("| " + markdownText(text) + " ")
		}
		b.WriteString("|\n")
	}
	if len(g.head) > 0 {
		row(g.head)
		b.WriteString("| --- " + strings.Repeat("| ---: ", len(g.head)-1) + "|\n")
	}
	for _, line := range g.lines {
		if strings.Join(line, "") != "" {
			row(line)
		}
	}
	list := ""
	for _, note := range g.notes {
		if note != "" {
			list += "- " + markdownText(note) + "\n"
		}
	}
	if list != "" && b.Len() > 0 {
		list = "\n" + list
	}
	return b.String() + list
}

// markdownText keeps a text in its cell, and from being taken for markup.
func markdownText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`).Replace(oneLine(s))
}
