/** Where closes on this side are counted, by code. */
import { GATEWAY } from '../../core/ring/counters.ts'
import { CLOSE, type CloseCode } from './protocol.ts'

export const CLOSED: Readonly<Record<CloseCode, number>> = {
  [CLOSE.GOING_AWAY]: GATEWAY.ws_closed_1001, [CLOSE.POLICY]: GATEWAY.ws_closed_1008, [CLOSE.TOO_LARGE]: GATEWAY.ws_closed_1009,
  [CLOSE.RESYNC]: GATEWAY.ws_closed_1013,
}
