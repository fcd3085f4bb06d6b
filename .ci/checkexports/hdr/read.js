// Reads the .hlog and .hgrm files of `tickgauge report` with HdrHistogram for
// JavaScript, and fails where they do not say what results.json does:
// node read.js results.json DIR
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import hdr from "hdr-histogram-js";

const [resultsFile, dir] = process.argv.slice(2);
const results = JSON.parse(readFileSync(resultsFile, "utf8"));
const runs = new Map(); // by their whole histogram
for (const run of [...results.cells.flatMap((cell) => cell.runs), ...results.orders]) {
  if (run.latency_hdr !== "") runs.set(run.latency_hdr, run);
}

const faults = [];
const check = (where, what, got, want) => {
  if (got !== want) faults.push(`${where}: ${what} is ${got}, want ${want}`);
};

// numbers are those of a percentile file, comments aside but for the figures below
// the table. The two programs round a last digit that is a tie to different sides.
const numbers = (text) =>
  text.split("\n").filter((line) => !line.startsWith("# ")).join("\n").match(/[0-9.]+/g).map(Number);
const close = (a, b) => Math.abs(a - b) <= 0.0011 + 1e-9 * Math.abs(b);

let read = 0;
for (const file of readdirSync(dir).filter((name) => name.endsWith(".hlog"))) {
  const text = readFileSync(join(dir, file), "utf8");
  const histogram = new hdr.HistogramLogReader(text).nextIntervalHistogram();
  const run = runs.get(text.trim().split(",").at(-1));
  if (!histogram || !run) {
    faults.push(`${file}: no interval of a run`);
    continue;
  }
  read++;
  const latency = run.latency_ns;
  for (const [percentile, want] of [[50, latency.p50], [90, latency.p90], [99, latency.p99], [99.9, latency.p999]]) {
    // Libraries differ by one value in which one a percentile is.
    const one = 100 / histogram.totalCount;
    const least = histogram.getValueAtPercentile(Math.max(percentile - one, 0));
    const most = histogram.getValueAtPercentile(Math.min(percentile + one, 100));
    if (want < least || want > most) faults.push(`${file}: p${percentile} is from ${least} to ${most}, want ${want}`);
  }
  check(file, "the largest", histogram.maxValue, latency.max);
  const started = Date.parse(run.started);
  check(file, "the start", Math.round(histogram.startTimeStampMsec), started);
  check(file, "the end", Math.round(histogram.endTimeStampMsec), Math.floor(started + run.duration_ns / 1e6));

  const percentiles = file.replace(/hlog$/, "hgrm");
  const got = numbers(readFileSync(join(dir, percentiles), "utf8"));
  const want = numbers(histogram.outputPercentileDistribution(5, 1000));
  check(percentiles, "how many numbers there are", got.length, want.length);
  const i = got.findIndex((number, i) => !close(number, want[i]));
  if (i >= 0) faults.push(`${percentiles}: number ${i + 1} is ${got[i]}, want ${want[i]}`);
}
check(dir, "how many runs were read", read, runs.size);
if (faults.length > 0) {
  console.error(faults.join("\n"));
  process.exit(1);
}
console.log(`${dir}: ${read} runs, as HdrHistogram for JavaScript reads them`);
