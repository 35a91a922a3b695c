package suggest

import (
	"fmt"
	"strings"
)

// Suffix is `: did you mean "x"?` for the candidate nearest to a misspelt word, or "" where none is near. Letters count the
// same in either case.
func Suffix(word string, candidates []string) string {
	best, fewest := "", min(len(word)/3+2, len(word))
	for _, candidate := range candidates {
		if edits := distance(strings.ToLower(word), strings.ToLower(candidate)); edits < fewest || edits == fewest && candidate < best {
			best, fewest = candidate, edits
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %q?", best)
}

// distance is Levenshtein's: the fewest bytes to insert, remove or change.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 { // nothing of ours is that long, and a hostile file may be
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substituted := diagonal
			if a[i] != b[j] {
				substituted++
			}
			diagonal = row[j+1]
			row[j+1] = min(substituted, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
