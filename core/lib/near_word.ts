/** The word that was meant: the one of `words` with the fewest letters to change, at most a third of them; `null`: there is none. */
export function nearWord(word: string, words: Iterable<string>): string | null {
  let [found, least] = [null as string | null, Math.max(1, Math.floor(word.length / 3)) + 1]
  for (const other of words) {
    const distance = distanceOf(word.toLowerCase(), other.toLowerCase())
    if (distance < least) [found, least] = [other, distance]
  }
  return found
}

/** Letters to insert, leave out or change. */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, place) => place)
  for (let from = 1; from <= one.length; from++) {
    const next = [from]
    for (let to = 1; to <= other.length; to++) {
      const same = one[from - 1] === other[to - 1] ? 0 : 1
      next.push(Math.min(row[to]! + 1, next[to - 1]! + 1, row[to - 1]! + same))
    }
    row = next
  }
  return row[other.length]!
}
