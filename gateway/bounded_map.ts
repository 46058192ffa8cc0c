/**
 * A map that forgets its oldest entry when it is full. The order of insertion is kept in a ring of keys, because asking a Map
 * for its first key scans what was deleted before it. A key set twice may be forgotten with its first place; callers cache.
 */
export interface BoundedMap<K, V> {
  readonly entries: Map<K, V>
  readonly keys: (K | undefined)[]
  next: number
}

export const createBoundedMap = <K, V>(capacity: number): BoundedMap<K, V> =>
  ({ entries: new Map(), keys: new Array<K | undefined>(capacity).fill(undefined), next: 0 })

export function remember<K, V>(map: BoundedMap<K, V>, key: K, value: V): void {
  const { entries, keys } = map
  const oldest = keys[map.next]
  if (oldest !== undefined && oldest !== key) entries.delete(oldest)
  keys[map.next] = key
  map.next = (map.next + 1) % keys.length
  entries.set(key, value)
}
