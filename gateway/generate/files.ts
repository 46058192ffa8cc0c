/** Checked-in files that are made from the declarations of the operations: path below the repository's folder, and text. */
import { clientData, CLIENT_DATA } from './client_data.ts'
import { protoTexts } from './protos.ts'

export const generatedFiles = (): ReadonlyMap<string, string> => new Map([[CLIENT_DATA, clientData()], ...protoTexts()])
