package report

import (
	"fmt"
	"io"
	"strings"
)

// WriteText writes the tables of each result, its name above them where there are
// several, and of two the ratios of their medians.
func WriteText(w io.Writer, results ...Named) error {
	var parts []string
	for _, r := range results {
		if len(results) > 1 {
			parts = append(parts, fmt.Sprintf("== %s: tickgauge %s, %s\n", oneLine(r.Name), oneLine(r.Version), oneLine(r.Created)))
		}
		parts = append(parts, tables(r.Results, "", (*grid).text)...)
	}
	if len(results) == 2 {
		parts = append(parts, fmt.Sprintf("== from %s to %s\n", oneLine(results[0].Name), oneLine(results[1].Name)), ratios(results[0], results[1]).text())
	}
	if _, err := io.WriteString(w, strings.Join(parts, "\n")); err != nil {
		return fmt.Errorf("write tables: %w", err)
	}
	return nil
}

// WriteMarkdown writes the same as tables for GitHub.
func WriteMarkdown(w io.Writer, results ...Named) error {
	var parts []string
	for _, r := range results {
		parts = append(parts,
			fmt.Sprintf("## %s\n", markdownText(r.Name)),
			fmt.Sprintf("tickgauge %s, %s, on %s (%d CPUs)\n", markdownText(r.Version), markdownText(r.Created), markdownText(r.Host.CPUModel), r.Host.CPUs))
		parts = append(parts, tables(r.Results, "### ", (*grid).markdown)...)
	}
	if len(results) == 2 {
		parts = append(parts, fmt.Sprintf("## From %s to %s\n", markdownText(results[0].Name), markdownText(results[1].Name)), ratios(results[0], results[1]).markdown())
	}
	if _, err := io.WriteString(w, strings.Join(parts, "\n")); err != nil {
		return fmt.Errorf("write Markdown: %w", err)
	}
	return nil
}

// tables are the tables of results that have anything, each after a heading where
// headings are marked.
func tables(r *Results, mark string, render func(*grid) string) []string {
	var parts []string
	add := func(title string, g *grid) {
		if mark != "" {
			parts = append(parts, mark+title+"\n")
		}
		parts = append(parts, render(g))
	}
	if len(r.Cells) > 0 {
		add("Streams", streamsGrid(r))
	}
	for _, g := range comparisonGrids(r.Comparison) {
		add("What the rounds show", g)
	}
	if len(r.Orders) > 0 {
		add("Orders", ordersGrid(r.Orders))
	}
	if len(r.Thresholds) > 0 {
		add("Thresholds", thresholdsGrid(r.Thresholds))
	}
	if r.Calibration != nil {
		add("The machine", machineGrid(r.Calibration))
	}
	if len(parts) == 0 {
		return []string{"Nothing was measured.\n"}
	}
	return parts
}
