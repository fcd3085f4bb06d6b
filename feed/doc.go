// Package feed holds the market-data half of the simulated exchange: ticks,
// their units and clock, the Hub that numbers and fans them out, and the
// bounded Subscription each stream drains. It knows no transport and no
// encoding; encoders are handed in.
package feed
