/** Messages and frames of the connection itself, as they really look. Channels have their examples in their declarations. */
import type { Static } from 'typebox'
import { userId } from '../../../core/layout/ids.ts'
import { EXPIRES, LATER, PAIR, SESSION_KEY } from '../../operations/example_values.ts'
import type { FRAMES, MESSAGES } from '../../ws/protocol.ts'

/** Time and sequence of the example frames. */
export const EXAMPLE_TIME = LATER
export const EXAMPLE_SEQUENCE = 43

type Messages = { readonly [Type in Exclude<keyof typeof MESSAGES, 'subscribe' | 'unsubscribe'>]: Static<(typeof MESSAGES)[Type]> }
export const MESSAGE_EXAMPLES: Messages = {
  auth: {
    type: 'auth', publicKey: SESSION_KEY, timestamp: '1768469402125', signature: '5e'.repeat(64),
  },
  ping: { type: 'ping' },
}

type Frames = { readonly [Type in Exclude<keyof typeof FRAMES, 'error'>]: Static<(typeof FRAMES)[Type]> }
const subscription = { id: 1, channel: 'orderbook', params: { tradingPairId: PAIR, magnitude: 1 } }
export const FRAME_EXAMPLES: Frames = {
  connected: { type: 'connected', connectionId: userId(1, 1), heartbeatMs: 60_000 },
  authenticated: { type: 'authenticated', expiresAt: EXPIRES },
  subscribed: { type: 'subscribed', ...subscription },
  unsubscribed: { type: 'unsubscribed', ...subscription },
  pong: { type: 'pong', timestamp: EXAMPLE_TIME },
}
