/**
 * What a channel is: one file each, which declares name, parameters, access and frames, gives the snapshot and turns events into frames.
 *
 * What it declares is known without an exchange ({@link channel}): the check of its parameters, the AsyncAPI document, the types of the
 * clients and the table of the guide derive from it, and the tests hold every frame against it. Records in it are those of the operations,
 * never repeated. `list.ts` has a line for each file.
 *
 * Channels of a thread see every event of the ring in order ({@link Channel.take}), and {@link Channel.flush} when all events of a turn
 * were seen and the last one ended its command. Subscribing happens only between commands too, so no snapshot has half of one.
 */
import Type, { type Static, type TObject, type TSchema } from 'typebox'
import type { Views } from '../../../core/layout/table.ts'
import type { Gateway } from '../../context.ts'
import { Timestamp } from '../../operations/operation.ts'
import { field } from '../../operations/schema.ts'
import type { Frame, LaterFrame, Params } from '../frames.ts'

/** A connection, as channels know it. */
export interface Subscriber {
  /** Row of the account it is authenticated for; -1: none. */
  readonly account: number
  /**
   * Takes a frame; it leaves at the end of the turn. A frame that costs much may come as what makes it: made when its turn to leave comes,
   * with requests served in between.
   */
  push(frame: Frame | LaterFrame): void
}

/** What a frame of one type carries. */
export interface FrameDeclaration {
  /** One sentence for readers of the document. */
  readonly about: string
  /** What stands under `data`. */
  readonly data: TSchema
  /** Whether it has a `sequence`. */
  readonly sequenced: boolean
  /** Values of `reason`; absent: it has none. */
  readonly reasons?: readonly string[]
}

/** What a channel promises, known without an exchange. */
export interface Declaration {
  readonly name: string
  readonly access: 'public' | 'private'
  /** One sentence for readers of the document. */
  readonly about: string
  /** Fields a client may send; `null` and absent are the same, others are ignored. */
  readonly params: TObject
  /** By `type` of the frame: `snapshot`, or the name of an update. */
  readonly frames: Readonly<Record<string, FrameDeclaration>>
}

/** A declaration with its example and what makes the channel. */
export interface ServedDeclaration extends Declaration {
  /** Parameters as a client sends them, and what the frame of each type carries under `data`. */
  readonly example: { readonly params: object; readonly frames: Readonly<Record<string, unknown>> }
  /** Makes it for one gateway thread. */
  readonly create: (gateway: Gateway) => Channel
}

/** A declaration whose example has the shape of its schemas. */
interface Declared<Name extends string, Access, P extends TObject, F extends Declaration['frames']>
  extends ServedDeclaration {
  readonly name: Name
  readonly access: Access & Declaration['access']
  readonly params: P
  readonly frames: F
  readonly example: {
    readonly params: NoInfer<Static<P>>
    readonly frames: NoInfer<{ readonly [Type in keyof F]: Static<F[Type]['data']> }>
  }
}

/** Declares a channel. One without its texts or its example, or with an example that its schemas do not have, is a type error. */
export const channel = <
  const Name extends string, const Access extends Declaration['access'], P extends TObject, const F extends Declaration['frames'],
>(declared: Declared<Name, Access, P, F>): Declared<Name, Access, P, F> => declared

export interface Channel {
  readonly declaration: Declaration
  /** The one written form of these parameters, or a text that says what is wrong with them. */
  read(params: Params): Params | string
  /**
   * Why this subscriber may not subscribe with them, for what only the state can tell: what they name is missing, or another's. `null`: he
   * may, or it cannot be told now.
   */
  refusal?(subscriber: Subscriber, params: Params): string | null
  /**
   * Subscribes with parameters that {@link read} gave and pushes the snapshot; a subscription that exists gets a new snapshot. False: the
   * snapshot cannot be read now. The subscription stands all the same, and this is called again until it can be read, unless the channel
   * {@link seesToLate} ones.
   */
  subscribe(subscriber: Subscriber, params: Params): boolean
  /** The channel itself sees to snapshots that could not be read: it sends them when they can be, or never. */
  readonly seesToLate?: true
  unsubscribe(subscriber: Subscriber, params: Params): void
  /** Takes in the event at word `base`. */
  take(records: Views, base: number): void
  /**
   * Pushes what became of the events since the last time. A channel with many subscribers may stop once it has pushed `most` frames,
   * between topics and with the longest waiting ones told; it then returns the sequenced time of the oldest event that is left, Unix ms.
   */
  flush(most: number): number | void
}

/** A frame of a channel: `type` is one of those it declares. */
export function channelFrame({ name, frames }: Declaration, type: string): TObject {
  const { data, sequenced, reasons } = frames[type] as FrameDeclaration
  return Type.Object({
    channel: field(Type.Literal(name), 'Name of the channel.'),
    type: field(Type.Literal(type), 'What the frame is.'),
    ...(reasons === undefined ? {} : { reason: field(Type.Enum([...reasons]), 'What caused it; the first of `reasons`.') }),
    ...(sequenced ? { sequence: field(Type.Integer(), 'Number of the last command that is in the frame.') } : {}),
    timestamp: field(Timestamp, 'When the frame was made.'),
    data: field(data, 'What the channel tells.'),
  })
}
