/**
 * What a channel is: one file each, which declares name, parameters and access, gives the snapshot and turns events into frames.
 *
 * Channels of a thread see every event of the ring in order ({@link Channel.take}), and {@link Channel.flush} when all events of a turn
 * were seen and the last one ended its command. Subscribing happens only between commands too, so no snapshot has half of one.
 */
import type { Views } from '../../../core/layout/table.ts'
import type { Frame, Params } from '../frames.ts'

/** A connection, as channels know it. */
export interface Subscriber {
  /** Row of the account it is authenticated for; -1: none. */
  readonly account: number
  /** Takes a frame; it leaves at the end of the turn. */
  push(frame: Frame): void
}

export interface Channel {
  readonly name: string
  readonly access: 'public' | 'private'
  /** The one written form of these parameters, or in words what is wrong with them. */
  read(params: Params): Params | string
  /**
   * Subscribes with parameters that {@link read} gave and pushes the snapshot; a subscription that exists gets a new snapshot. False: the
   * snapshot cannot be read now. The subscription stands all the same.
   */
  subscribe(subscriber: Subscriber, params: Params): boolean
  unsubscribe(subscriber: Subscriber, params: Params): void
  /** Takes in the event at word `base`. */
  take(records: Views, base: number): void
  /** Pushes what became of the events since the last time. */
  flush(): void
}
