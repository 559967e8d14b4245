/** Ends with 0 if the hosts match the inventory, with 10 if `kbuild up` would change something, and else with the error's exit code. */
import { connect, KbuildError, loadInventory, plan } from 'kbuild';

function tell(error: KbuildError): void {
  console.error(error.message);
  if (error.remedy !== undefined) console.error(`  → ${error.remedy}`);
}

async function drift(file: string): Promise<number> {
  const { inventory, warnings } = await loadInventory({ file });
  for (const { at, message } of warnings) console.warn(`${at}: ${message}`);
  const connection = await connect(inventory, { concurrency: 10, onWarning: console.warn });
  try {
    const { changes, errors } = plan(connection);
    for (const { phase, host, summary } of changes) console.log(`${phase}: ${host}: ${summary}`);
    // A control plane that does not answer is in both lists, as the same error.
    const failed = new Set([...connection.unreachable.map(({ error }) => error), ...errors]);
    failed.forEach(tell);
    return Math.max(changes.length > 0 ? 10 : 0, ...[...failed].map(({ exitCode }) => exitCode));
  } finally {
    await connection.close();
  }
}

try {
  process.exitCode = await drift(process.argv[2] ?? 'inventory.yaml');
} catch (error) {
  if (!(error instanceof KbuildError)) throw error;
  tell(error);
  process.exitCode = error.exitCode;
}
