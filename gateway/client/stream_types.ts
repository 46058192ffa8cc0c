/** What subscribing takes and gives, by channel: read off the declarations of the channels, so that a new channel needs nothing here. */
import type { Static, TSchema } from 'typebox'
import type { DECLARATIONS } from '../ws/channels/index.ts'
import type { StreamError } from './errors.ts'

type Declared = (typeof DECLARATIONS)[number]
export type ChannelName = Declared['name']
type Of<N extends ChannelName> = Extract<Declared, { readonly name: N }>

/** Channels that want a session. */
export type PrivateChannel = Extract<Declared, { readonly access: 'private' }>['name']

export type ChannelParams<N extends ChannelName> = Static<Of<N>['params']>

interface DeclaredFrame {
  readonly data: TSchema
  readonly sequenced: boolean
  readonly reasons?: readonly string[]
}

/** A frame of this type as it came. */
interface FrameOf<Channel, Type, F extends DeclaredFrame> {
  readonly channel: Channel
  readonly type: Type
  readonly data: Static<F['data']>
  readonly sequence: F['sequenced'] extends true ? number : undefined
  readonly reason: F['reasons'] extends readonly string[] ? F['reasons'][number] : undefined
  /** RFC 3339; when the frame was made. */
  readonly timestamp: string
}

type Frames<N extends ChannelName> = {
  readonly [T in keyof Of<N>['frames']]: Of<N>['frames'][T] extends DeclaredFrame ? FrameOf<N, T, Of<N>['frames'][T]> : never
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
