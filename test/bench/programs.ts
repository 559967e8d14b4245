import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as bundle } from 'esbuild';
import { bundleOptions } from '../../bundle.config.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));

/** Programs that the bench runs, built: nobody pays for TypeScript while it is measured. */
export interface Programs {
  /** `kbuild` as `npm run build` makes it, but its hosts are observed by observe.ts. */
  readonly kbuild: string;
  /** A file of test/bench. */
  readonly own: (name: string) => string;
}

/** Builds them into a folder. */
export async function benchPrograms(folder: string, names: readonly string[]): Promise<Programs> {
  const out = join(folder, 'dist');
  await bundle({
    ...bundleOptions,
    absWorkingDir: root,
    outdir: out,
    plugins: [
      {
        name: 'bench-observe',
        setup: (build) =>
          build.onResolve({ filter: /\/observe-linux\.ts$/ }, ({ importer }) =>
            importer.startsWith(here) ? undefined : { path: join(here, 'observe.ts') },
          ),
      },
      ...bundleOptions.plugins!,
    ],
  });
  await bundle({
    absWorkingDir: root,
    entryPoints: names.map((name) => join(here, `${name}.ts`)),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['ssh2'],
    banner: bundleOptions.banner!,
    outdir: join(folder, 'own'),
    outExtension: { '.js': '.mjs' },
  });
  for (const name of ['package.json', 'templates', 'node_modules']) symlinkSync(join(root, name), join(folder, name));
  return { kbuild: join(out, 'cli/main.js'), own: (name) => join(folder, 'own', `${name}.mjs`) };
}
