/** HTTP load by autocannon, on the same two cores as the exchange. */
import autocannon from 'autocannon'

export interface Round {
  /** Answers with 2xx a second. */
  rate: number
  /** ms. */
  p50: number
  p99: number
  /** Answers other than 2xx, and errors. */
  other: number
}

/** Sends `requests` over and over on `connections` connections for `seconds`. */
export async function round(
  baseUrl: string, requests: autocannon.Request[], seconds: number, connections: number,
): Promise<Round> {
  const done = await autocannon({ url: baseUrl, connections, duration: seconds, requests, timeout: 10 })
  return { rate: done['2xx'] / done.duration, p50: done.latency.p50, p99: done.latency.p99, other: done.non2xx + done.errors }
}
