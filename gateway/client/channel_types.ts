/** What each channel takes and sends, read off the declarations of the channels. The package has the same as text (build/sources.ts). */
import type { Static, TSchema } from 'typebox'
import type { DECLARATIONS } from '../ws/channels/index.ts'

type Declared = (typeof DECLARATIONS)[number]

interface DeclaredFrame {
  readonly data: TSchema
  readonly sequenced: boolean
  readonly reasons?: readonly string[]
}

/** By the name of the channel; frames by their type. */
export type ChannelTypes = {
  readonly [D in Declared as D['name']]: {
    readonly access: D['access']
    readonly params: Static<D['params']>
    readonly frames: { readonly [T in keyof D['frames']]: D['frames'][T] extends DeclaredFrame ? FrameTypes<D['frames'][T]> : never }
  }
}

interface FrameTypes<F extends DeclaredFrame> {
  readonly data: Static<F['data']>
  readonly sequence: F['sequenced'] extends true ? number : undefined
  readonly reason: F['reasons'] extends readonly string[] ? F['reasons'][number] : undefined
}
