/** Replays the journal of each directory that is named, and says what came of it, a line of JSON each: to be run as a bundle. */
import { verify } from '../../core/replay/verify.ts'

for (const dataDir of process.argv.slice(2)) {
  try {
    const { commands, digest, eventsChecksum } = verify(dataDir, () => undefined)
    console.log(JSON.stringify({ commands, digest, eventsChecksum }))
  } catch (error) {
    console.log(JSON.stringify({ failed: (error as Error).message }))
  }
}
