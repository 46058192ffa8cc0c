/**
 * Which pages of ticks hold orders, per pair and side: one bit a page with summaries of 32, so that the next occupied page
 * is found in at most five steps whatever the distance.
 *
 *   summary 2   |1|
 *   summary 1   |0010 ...|            a bit is set when the word below it is not zero
 *   bits        |0000|0000|0100|...   bit = page of 32 ticks has an order of this side
 */
import type { State } from './state.ts'

const lowest = (word: number): number => 31 - Math.clz32(word & -word)
const highest = (word: number): number => 31 - Math.clz32(word)

/** Marks page `index` of `side` (pair × 2 + 0 for bids, 1 for asks). */
export function setBit(state: State, side: number, index: number): void {
  const { bitmaps, bitmapOffsets } = state
  const base = side * state.bitmapTotal
  for (let level = 0; level < bitmapOffsets.length; level++) {
    const word = base + bitmapOffsets[level]! + (index >>> 5)
    const old = bitmaps[word]!
    bitmaps[word] = old | (1 << (index & 31))
    if (old !== 0) return
    index >>>= 5
  }
}

/** Clears page `index` of `side`. */
export function clearBit(state: State, side: number, index: number): void {
  const { bitmaps, bitmapOffsets } = state
  const base = side * state.bitmapTotal
  for (let level = 0; level < bitmapOffsets.length; level++) {
    const word = base + bitmapOffsets[level]! + (index >>> 5)
    const left = bitmaps[word]! & ~(1 << (index & 31))
    bitmaps[word] = left
    if (left !== 0) return
    index >>>= 5
  }
}

/** The highest marked page below `index`, or -1. */
export function pageBelow(state: State, side: number, index: number): number {
  const { bitmaps, bitmapOffsets } = state
  const base = side * state.bitmapTotal
  for (let level = 0; level < bitmapOffsets.length; level++) {
    const bit = index & 31
    const word = bitmaps[base + bitmapOffsets[level]! + (index >>> 5)]! & (bit === 0 ? 0 : -1 >>> (32 - bit))
    if (word !== 0) return descend(state, base, level, (index & ~31) | highest(word), true)
    index >>>= 5
  }
  return -1
}

/** The lowest marked page above `index`, or -1. */
export function pageAbove(state: State, side: number, index: number): number {
  const { bitmaps, bitmapOffsets } = state
  const base = side * state.bitmapTotal
  for (let level = 0; level < bitmapOffsets.length; level++) {
    const bit = index & 31
    const word = bitmaps[base + bitmapOffsets[level]! + (index >>> 5)]! & (bit === 31 ? 0 : -1 << (bit + 1))
    if (word !== 0) return descend(state, base, level, (index & ~31) | lowest(word), false)
    index >>>= 5
  }
  return -1
}

function descend(state: State, base: number, level: number, index: number, high: boolean): number {
  const { bitmaps, bitmapOffsets } = state
  for (let below = level - 1; below >= 0; below--) {
    const word = bitmaps[base + bitmapOffsets[below]! + index]!
    index = (index << 5) | (high ? highest(word) : lowest(word))
  }
  return index
}
