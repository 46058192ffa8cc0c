/** CRC-32 (that of zlib, gzip and Ethernet) without Node's, for browsers. */

/** The reflected polynomial, and the step of each byte. */
const POLYNOMIAL = 0xedb88320
const STEPS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let step = byte
  for (let bit = 0; bit < 8; bit++) step = (step & 1) === 1 ? POLYNOMIAL ^ (step >>> 1) : step >>> 1
  return step
})

/** CRC-32 of ASCII text, as a number without sign. */
export function crc32(text: string): number {
  let sum = 0xffffffff
  for (let i = 0; i < text.length; i++) sum = STEPS[(sum ^ text.charCodeAt(i)) & 0xff]! ^ (sum >>> 8)
  return (sum ^ 0xffffffff) >>> 0
}
