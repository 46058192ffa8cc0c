/** The certificates of an exchange: checked before anything runs, and handed to the ports again on SIGHUP. */
import { grpcCertificate, httpCertificate, readCertificate, readNewCertificate } from '../certificates.ts'
import type { Config } from '../config.ts'
import type { Logger } from '../lib/log.ts'
import { CERTIFICATE_STAYS } from '../threads.ts'
import type { Crew } from './crew.ts'
import { GRPC } from './fronts.ts'

/** Throws ConfigError when one of them is not good; an expired one is only said. */
export function checkCertificates(config: Config, log: Logger, now = Date.now()): void {
  for (const files of [httpCertificate(config), grpcCertificate(config)]) {
    const certificate = readCertificate(files)
    if (certificate === null || certificate.expiresAt > now) continue
    log.error({ certificate: files.cert, expired: new Date(certificate.expiresAt).toISOString() }, 'the certificate has expired')
  }
}

/** Has every port read its certificate again, when that is good. */
export function reloadCertificates(config: Config, log: Logger, crew: Crew): void {
  const kinds = [[httpCertificate(config), (name: string) => /^gateway \d/.test(name)], [grpcCertificate(config), isGrpc]] as const
  if (kinds.every(([{ cert }]) => cert === '')) log.warn('there are no certificates to read again: --tls-cert and --grpc-cert are not set')
  for (const [files, isOf] of kinds) {
    try {
      const certificate = readNewCertificate(files)
      if (certificate === null) continue
      log.info({ certificate: files.cert, expires: new Date(certificate.expiresAt).toISOString() }, 'the certificate is read again')
      for (const name of crew.names.filter(isOf)) crew.tell(name, { type: 'certificates' })
    } catch (error) {
      log.error({ reason: (error as Error).message }, CERTIFICATE_STAYS)
    }
  }
}

const isGrpc = (name: string): boolean => name === GRPC
