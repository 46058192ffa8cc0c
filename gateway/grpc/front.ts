/** What all calls of the gRPC thread share. */
import { countResponse, GATEWAY } from '../../core/ring/counters.ts'
import type { Metadata } from '@grpc/grpc-js'
import type { Gateway } from '../context.ts'
import { statusOf } from '../http/envelope.ts'
import { ClientAddresses, FORWARDED_FOR } from '../limits/client_address.ts'
import type { Refused } from '../refused.ts'
import { REQUEST_ID } from '../request_id.ts'
import { SignatureShares } from '../stream/signature_shares.ts'
import type { StatusWriter } from './status.ts'

export interface Front {
  readonly gateway: Gateway
  readonly statuses: StatusWriter
  readonly addresses: ClientAddresses
  /** Signatures of streams that are looked at in a turn. */
  readonly signatures: SignatureShares
  /** Address of the client at the other end of a connection. */
  addressOf: (peer: Peer) => string
  /** Calls and stream actions that are not answered yet. */
  inFlight: number
  /** Set at a stop: what comes now is refused. */
  stopping: boolean
}

export const createFront = (gateway: Gateway, statuses: StatusWriter): Front =>
  ({
    gateway, statuses, addresses: new ClientAddresses(gateway.config.trustedProxies), addressOf: ({ remoteAddress }) => remoteAddress,
    signatures: new SignatureShares(), inFlight: 0, stopping: false,
  })

interface Peer {
  readonly remoteAddress: string
  readonly remotePort: number
}

/** A peer of the library, `address:port`. */
function readPeer(peer: string): Peer {
  const colon = peer.lastIndexOf(':')
  return { remoteAddress: peer.slice(0, colon), remotePort: Number(peer.slice(colon + 1)) }
}

/** Address of the client that called. */
export const clientOf = ({ addresses, addressOf }: Front, peer: string, metadata: Metadata): string =>
  addresses.clientOf(addressOf(readPeer(peer)), metadata.get(FORWARDED_FOR).join(','))

/** X-Request-Id of a call: the client's own, or one that is made. */
export const requestIdOf = ({ gateway }: Front, metadata: Metadata): string =>
  gateway.requestIds.of(metadata.get(REQUEST_ID).join(','))

export function countRequest(front: Front, bytes: number): void {
  const { counters } = front.gateway
  front.inFlight++
  counters[GATEWAY.requests]!++
  counters[GATEWAY.body_bytes]! += bytes
}

/** `null`: it was answered as asked. */
export function countAnswer(front: Front, refused: Refused | null): void {
  front.inFlight--
  countResponse(front.gateway.counters, refused === null ? 200 : statusOf(refused))
}

/** The client left before the answer, or its deadline passed. */
export function countAborted(front: Front): void {
  front.inFlight--
  front.gateway.counters[GATEWAY.aborted]!++
}
