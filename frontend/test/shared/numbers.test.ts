import { expect, it } from "vitest";
import { numberIn, typedIn } from "../../src/shared/numbers";

it("reads a decimal point and a decimal comma in every language", () => {
  for (const language of ["en", "de", "fr", "ja"]) {
    expect(numberIn("7,5", language)).toBe(7.5);
    expect(numberIn(" 7.5 ", language)).toBe(7.5);
    expect(numberIn("-0.125", language)).toBe(-0.125);
    expect(numberIn("0,125", language)).toBe(0.125);
  }
});

it("refuses what may be thousands", () => {
  expect(numberIn("1,500", "en")).toBeUndefined();
  expect(numberIn("1.500", "en")).toBe(1.5);
  expect(numberIn("1.500", "de")).toBeUndefined();
  expect(numberIn("1,500", "de")).toBe(1.5);
  expect(numberIn("1,500.00", "en")).toBeUndefined();
});

it("refuses what is no number", () => {
  for (const text of [
    "7-8",
    "1e",
    "1e3",
    "--",
    "-",
    ".",
    "7.",
    "0x10",
    "Infinity",
    "NaN",
    "7 8",
    "½",
    "9".repeat(400),
  ]) {
    expect([text, numberIn(text)]).toEqual([text, undefined]);
  }
  expect(numberIn("  ")).toBeNull();
});

it("reads the digits of other keyboards", () => {
  expect(numberIn("３０", "ja")).toBe(30);
  expect(numberIn("٣٠٫٥", "ar")).toBe(30.5);
  expect(numberIn("۳۰", "fa")).toBe(30);
  expect(numberIn("−4")).toBe(-4);
});

it("shows a number as it is typed", () => {
  expect(typedIn(7.5, "de")).toBe("7,5");
  expect(typedIn(7.5, "en")).toBe("7.5");
  expect(typedIn(1500, "de")).toBe("1500");
});
