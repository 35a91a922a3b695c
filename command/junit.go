package command

import (
	"encoding/xml"
	"fmt"
	"os"
	"strings"
	"time"
)

// junitSuite is one file of cases in the XML that CI systems read, whose elements are those of Ant's JUnit task.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Time     string      `xml:"time,attr"` // seconds
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr"`
	Line    int           `xml:"line,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func writeJUnit(file, cases string, results []result) error {
	suite := junitSuite{Name: cases, Tests: len(results), Failures: failed(results)}
	var total time.Duration
	for _, r := range results {
		one := junitCase{Name: r.Name, Class: cases, File: cases, Line: r.Line, Time: inSeconds(r.took)}
		if len(r.differences) > 0 {
			one.Failure = &junitFailure{Message: r.differences[0], Text: strings.Join(r.differences, "\n")}
		}
		suite.Cases = append(suite.Cases, one)
		total += r.took
	}
	suite.Time = inSeconds(total)
	text, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	if err := os.WriteFile(file, append([]byte(xml.Header), append(text, '\n')...), 0o644); err != nil { //nolint:gosec // a report is to be read by others
		return fmt.Errorf("writing the JUnit report: %w", err)
	}
	return nil
}

func inSeconds(d time.Duration) string { return fmt.Sprintf("%.6f", d.Seconds()) }
