/**
 * The exchange process, started by its supervisor (supervisor/main.ts): configuration, directory, and an exchange on them
 * (exchange/exchange.ts), which ends with the process.
 */
import { announceExit, exit, onReload, stopAsked, supervised } from './supervisor/supervised.ts'
import { refuseBackup } from './backup/manifest.ts'
import { readConfig } from './config.ts'
import { lockDirectory } from './data_dir.ts'
import { startExchange } from './exchange/exchange.ts'
import { createLogger, lastWord } from './lib/log.ts'
import { systemFault } from './lib/system_fault.ts'
import { checkPorts } from './port_check.ts'
import { startCode } from './start_code.ts'
import { EXIT } from './threads.ts'

// Read by uWebSockets.js when it is loaded: room for RFC 9421 headers, browser headers and a page token.
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = '16384'
// The supervisor has read the same before: it is good, and help was not asked for.
const config = readConfig(process.argv.slice(2), process.env)!
const log = createLogger(config.logLevel)
if (!supervised) {
  log.fatal({ code: EXIT.CONFIG }, 'this is the exchange process alone; start core/supervisor/main.ts, as npm start does')
  exit(EXIT.CONFIG)
}
try {
  refuseBackup(config.dataDir)
  const lock = await lockDirectory(config.dataDir)
  await checkPorts(config)
  const exchange = startExchange({ config, log, lock, environment: process.env, stopAsked, announceExit, exit })
  onReload(() => exchange.reload())
  process.on('uncaughtException', (error) => void exchange.fail(EXIT.THREAD, `main thread: ${error.stack ?? error.message}`))
  await exchange.ready
} catch (thrown) {
  const error = systemFault(thrown, (thrown as NodeJS.ErrnoException).path ?? config.dataDir)
  const code = startCode(error)
  // What nobody foresaw is a fault of the program, and only its stack says where.
  lastWord(log, code, code === EXIT.THREAD ? `main thread: ${error.stack ?? error.message}` : error.message)
  exit(code)
}
