package raster

// Component is a set of connected pixels.
type Component struct {
	X0, Y0, X1, Y1 int // bounding box, end exclusive
	Area           int // pixels
}

// Width of the bounding box.
func (c Component) Width() int { return c.X1 - c.X0 }

// Height of the bounding box.
func (c Component) Height() int { return c.Y1 - c.Y0 }

// Add takes in a pixel. A component with nothing in it starts with X0 and Y0 beyond any pixel.
func (c *Component) Add(x, y int) {
	c.X0, c.X1 = min(c.X0, x), max(c.X1, x+1)
	c.Y0, c.Y1 = min(c.Y0, y), max(c.Y1, y+1)
	c.Area++
}

// Components labels the 8-connected sets of equal, non-zero class in a plane of width w. It
// returns the label of each pixel, 0 where class is 0, and the components; label n is
// components[n-1]. Labels go by the first pixel in reading order.
// Two passes with union-find over runs (He, Chao, Suzuki 2008, in its simplest form).
func Components(class []uint8, w int) (labels []int32, components []Component) {
	labels = make([]int32, len(class))
	parent := []int32{0}
	find := func(i int32) int32 {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for at := 0; at < len(class); at += w {
		row, now := class[at:at+w], labels[at:at+w]
		var aboveClass []uint8
		var above []int32
		if at > 0 {
			aboveClass, above = class[at-w:at], labels[at-w:at]
		}
		for x, k := range row {
			if k == 0 {
				continue
			}
			label := int32(0)
			if x > 0 && row[x-1] == k {
				label = now[x-1]
			}
			for i := max(x-1, 0); above != nil && i <= min(x+1, w-1); i++ {
				if aboveClass[i] != k || above[i] == label {
					continue
				}
				if label == 0 {
					label = above[i]
					continue
				}
				a, b := find(label), find(above[i])
				parent[max(a, b)] = min(a, b)
			}
			if label == 0 {
				label = int32(len(parent))
				parent = append(parent, label)
			}
			now[x] = label
		}
	}
	// Flatten: a root is always the smallest label of its set, so it is met first.
	number := make([]int32, len(parent))
	count := int32(0)
	for i := 1; i < len(parent); i++ {
		if root := find(int32(i)); root == int32(i) {
			count++
			number[i] = count
		} else {
			number[i] = number[root]
		}
	}
	components = make([]Component, count)
	for i := range components {
		components[i].X0, components[i].Y0 = w, len(class)
	}
	for i, l := range labels {
		if l == 0 {
			continue
		}
		n := number[l]
		labels[i] = n
		components[n-1].Add(i%w, i/w)
	}
	return labels, components
}
