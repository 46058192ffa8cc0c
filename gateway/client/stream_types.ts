/** What subscribing takes and gives, by channel: read off what the channels declare, so that a new channel needs nothing here. */
import type { ChannelTypes } from './channel_types.ts'
import type { StreamError } from './errors.ts'

export type ChannelName = keyof ChannelTypes

/** Channels that want a session. */
export type PrivateChannel = { [N in ChannelName]: ChannelTypes[N]['access'] extends 'private' ? N : never }[ChannelName]

export type ChannelParams<N extends ChannelName> = ChannelTypes[N]['params']

interface Carried {
  readonly data: unknown
  readonly sequence: unknown
  readonly reason: unknown
}

/** A frame of this type as it came. */
interface FrameOf<Channel, Type, F extends Carried> {
  readonly channel: Channel
  readonly type: Type
  readonly data: F['data']
  readonly sequence: F['sequence']
  readonly reason: F['reason']
  /** RFC 3339; when the frame was made. */
  readonly timestamp: string
}

type Declared<N extends ChannelName> = ChannelTypes[N]['frames']
type Frames<N extends ChannelName> = {
  readonly [T in keyof Declared<N>]: Declared<N>[T] extends Carried ? FrameOf<N, T, Declared<N>[T]> : never
}

/** Any frame of a channel; `type` tells them apart. */
export type Frame<N extends ChannelName> = Frames<N>[keyof Frames<N>]
export type SnapshotFrame<N extends ChannelName> = Extract<Frame<N>, { readonly type: 'snapshot' }>
export type UpdateFrame<N extends ChannelName> = Exclude<Frame<N>, { readonly type: 'snapshot' }>

/** `open`: what comes is complete. Otherwise something may be missing, and a snapshot will make up for it. */
export type SubscriptionStatus = 'connecting' | 'open' | 'reconnecting' | 'closed'

export interface Handlers<N extends ChannelName> {
  /** Everything there is. May come again at any time, and then replaces what came before. */
  readonly snapshot?: (data: SnapshotFrame<N>['data'], frame: SnapshotFrame<N>) => void
  readonly update?: (data: UpdateFrame<N>['data'], frame: UpdateFrame<N>) => void
  /** It was refused. A private subscription whose session is over stands, and goes on with the next sign-in. */
  readonly error?: (error: StreamError) => void
  readonly status?: (status: SubscriptionStatus) => void
}

export interface Subscription {
  /** Resolves when the service has confirmed it for the first time; rejects when it was refused or closed before. */
  readonly ready: Promise<void>
  readonly status: SubscriptionStatus
  /** Asks for a new snapshot. */
  renew(): void
  close(): void
}
