import { RingbookError } from '../../gateway/client/index.ts'

/** Waits until `reached`, asking as often as it can, but not for ever; what cannot be read now is asked again. */
export async function untilRead(reached: () => Promise<boolean>): Promise<boolean> {
  const unread = (error: unknown): boolean => {
    if (error instanceof RingbookError && error.code === 'ENGINE_UNAVAILABLE') return false
    throw error
  }
  for (let look = 0; look < 10_000; look++) if (await reached().catch(unread)) return true
  return false
}
