/** What the parts of a turn work with on one chain (chain_side.ts, hub.ts make it); each takes what it needs of it. */
import type { Books } from './books.ts'
import type { VaultCommands } from './commands.ts'
import type { Tell } from './tell.ts'
import type { ChainToken } from './tokens.ts'
import type { ChainNode, Places, Sender } from './types.ts'

export interface ChainParts {
  readonly node: ChainNode
  /** The same on every chain, but for its id. */
  readonly places: Places
  readonly books: Books
  readonly commands: VaultCommands
  readonly sender: Sender
  /** Tokens of the chain, by address in lowercase. */
  readonly tokens: ReadonlyMap<string, ChainToken>
  readonly tell: Tell
  /** Monotonic, ms. */
  readonly clock: () => number
  /** Block in which the vault was made, or one before it. */
  readonly first: () => Promise<number>
}
