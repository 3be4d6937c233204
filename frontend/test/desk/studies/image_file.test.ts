import { expect, it } from "vitest";
import { wrongWith } from "../../../src/desk/studies/ImageFile";

it("an image may be as large as its data URL has room for", () => {
  // data:image/png;base64, has 22 characters: 100 - 22 = 78 leave 19 groups of 4 for 3 bytes each.
  const image = (size: number) => ({ name: "a.png", type: "image/png", size });
  expect(wrongWith(image(57), 100)).toBe("");
  expect(wrongWith(image(58), 100)).toContain("Choose an image of at most");
});

it("what is no image is told", () => {
  expect(wrongWith({ name: "a.pdf", type: "application/pdf", size: 1 })).toContain("PNG, JPEG, WebP or SVG");
});
