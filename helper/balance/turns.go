package balance

// maxTurns bounds the length of one round, whatever the weights.
const maxTurns = 1 << 16

// reduce divides the weights by their greatest common divisor, and scales them
// down when a round would still be longer than maxTurns.
func reduce(weights []int) []int {
	divisor, total := 0, 0
	for _, w := range weights {
		divisor = gcd(max(w, 0), divisor)
		total += max(w, 0)
	}
	reduced := make([]int, len(weights))
	for i, w := range weights {
		if w <= 0 {
			continue
		}
		reduced[i] = w / divisor
		if rounds := total / divisor; rounds > maxTurns {
			reduced[i] = max(1, int(float64(w)/float64(total)*maxTurns))
		}
	}
	return reduced
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// smooth lists the turns of one round, each backend as often as its weight says.
func smooth(weights []int) []uint16 {
	total := 0
	for _, w := range weights {
		total += w
	}
	current := make([]int, len(weights))
	turns := make([]uint16, 0, total)
	for range total {
		best := -1
		for i, w := range weights {
			current[i] += w
			if w > 0 && (best < 0 || current[i] > current[best]) {
				best = i
			}
		}
		current[best] -= total
		turns = append(turns, uint16(best))
	}
	return turns
}
