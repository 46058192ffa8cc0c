/**
 * What a channel is: one file each, which declares name, parameters, access and frames, gives the snapshot and turns events into frames.
 *
 * What it declares is known without an exchange ({@link Declaration}): the check of its parameters, the AsyncAPI document and the types of
 * the client derive from it, and the tests hold every frame against it. Records in it are those of the operations, never repeated.
 *
 * Channels of a thread see every event of the ring in order ({@link Channel.take}), and {@link Channel.flush} when all events of a turn
 * were seen and the last one ended its command. Subscribing happens only between commands too, so no snapshot has half of one.
 */
import Type, { type TObject, type TSchema } from 'typebox'
import type { Views } from '../../../core/layout/table.ts'
import { Timestamp } from '../../operations/operation.ts'
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

export interface Channel {
  readonly declaration: Declaration
  /** The one written form of these parameters, or in words what is wrong with them. */
  read(params: Params): Params | string
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
    channel: Type.Literal(name),
    type: Type.Literal(type),
    ...(reasons === undefined ? {} : { reason: Type.Enum([...reasons]) }),
    ...(sequenced ? { sequence: Type.Integer() } : {}),
    timestamp: Timestamp,
    data,
  })
}
