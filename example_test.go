package unink_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"unink"
)

func ExampleCleaner_Clean() {
	page, err := os.ReadFile("docs/before.jpg")
	if err != nil {
		log.Fatal(err)
	}
	// One Cleaner is for the whole program: it holds the networks, and many goroutines may use it.
	cleaner, err := unink.New(unink.Config{})
	if err != nil {
		log.Fatal(err)
	}
	clean, err := cleaner.Clean(context.Background(), page, unink.Options{
		Finish: unink.Colour, // the picture as it was, so that its size stays
		Layers: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, %d × %d pixels\n", clean.Format, clean.Width, clean.Height)
	fmt.Println("handwriting was removed:", clean.Removed > 0 && len(clean.Handwriting) > 0)
	fmt.Println("closed:", cleaner.Close() == nil)
	// Output:
	// jpeg, 1240 × 1340 pixels
	// handwriting was removed: true
	// closed: true
}

func ExampleInspect() {
	page, err := os.ReadFile("docs/before.jpg")
	if err != nil {
		log.Fatal(err)
	}
	info, err := unink.Inspect(page, unink.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, %d × %d pixels\n", info.Format, info.Width, info.Height)
	// Output:
	// jpeg, 1240 × 1340 pixels
}
