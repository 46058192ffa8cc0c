/**
 * Keys of a genesis that nothing reads: a term that is misspelt would silently have its default for ever. Which keys there are is not
 * written down a second time: the document is read once through objects that note what is asked of them. Of a new exchange only; one that
 * began with such keys goes on.
 */
import { nearWord } from '../lib/near_word.ts'
import { genesisOf, GenesisError } from '../state/genesis.ts'

type Json = Record<string, unknown>

/** Keys that say what others decide; whoever reads the document likes to see them. */
const FOR_READERS: readonly string[] = ['marketType']

/** Throws {@link GenesisError} for the first key that is not read, with where it stands and what may be meant. `text` is a genesis. */
export function checkKeys(text: string): void {
  const read = new Map<object, Set<string>>()
  const document = JSON.parse(text) as Json
  const { limits } = genesisOf(noting(document, read) as Json)
  // Those of what the exchange has not are not asked for, and may stand there all the same.
  for (const name of Object.keys(limits)) read.get(document['limits'] as object)!.add(name)
  checkObject(document, 'genesis', read)
}

/** `value` as it is, but that what is asked of its objects is noted in `read`. */
function noting(value: unknown, read: Map<object, Set<string>>): unknown {
  if (typeof value !== 'object' || value === null) return value
  const asked = read.get(value) ?? new Set<string>()
  read.set(value, asked)
  const note = (key: string | symbol): void => void (typeof key === 'string' && asked.add(key))
  return new Proxy(value, {
    get(target, key) {
      note(key)
      return noting(Reflect.get(target, key), read)
    },
    has(target, key) {
      note(key)
      return Reflect.has(target, key)
    },
    // Whoever lists the keys reads all of them: they are names, of assets for instance.
    ownKeys(target) {
      const keys = Reflect.ownKeys(target)
      keys.forEach(note)
      return keys
    },
  })
}

function checkObject(value: unknown, at: string, read: Map<object, Set<string>>): void {
  if (typeof value !== 'object' || value === null) return
  const asked = read.get(value)
  // What nobody looked into is known by its own key.
  if (asked === undefined) return
  for (const [key, below] of Object.entries(value)) {
    if (!Array.isArray(value) && !asked.has(key) && !FOR_READERS.includes(key)) {
      const meant = nearWord(key, [...asked].filter((other) => !Object.hasOwn(value, other)))
      throw new GenesisError(`${at}: there is no key ${JSON.stringify(key)}${meant === null ? '' : `; ${meant} may be meant`}`)
    }
    checkObject(below, Array.isArray(value) ? `${at} ${nameOf(below) ?? Number(key) + 1}` : `${at}: ${key}`, read)
  }
}

/** What an element of a list is called. */
function nameOf(value: unknown): string | null {
  const { symbol, name } = (typeof value === 'object' && value !== null ? value : {}) as { symbol?: unknown; name?: unknown }
  return typeof symbol === 'string' ? symbol : typeof name === 'string' ? name : null
}
