import { defineConfig } from 'vitest/config';

const globalSetup = ['test/lab/global-setup.ts'];
const lab = { globalSetup: [...globalSetup, 'test/lab/run-setup.ts'], setupFiles: ['test/lab/tell-logs.ts'] };

export default defineConfig({
  test: {
    coverage: {
      provider: 'v8',
      reporter: ['text-summary'],
      include: ['src/**/*.ts'],
      // What talks to the world is proved against the world: the integration tests and the lab.
      exclude: [
        'src/cli/**',
        'src/library.ts',
        'src/transport/**',
        'src/remote/**',
        'src/surveys/**',
        'src/report/terminal.ts',
      ],
      thresholds: { lines: 90 },
    },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/lab/**', 'test/integration/**'],
          // Values in, values out: files need not be kept apart, and modules are loaded once.
          isolate: false,
          // Slow only where the machine is busy with other things.
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          globalSetup,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'lab',
          include: ['test/lab/**/*.test.ts'],
          exclude: ['test/lab/long/**'],
          ...lab,
          testTimeout: 900_000,
          hookTimeout: 900_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'long',
          include: ['test/lab/long/**/*.test.ts'],
          ...lab,
          testTimeout: 7_200_000,
          hookTimeout: 900_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
