-- A file as migration 1 left it, with one run. Never to be changed: it stands for files people have.
PRAGMA application_id=1131369332;
PRAGMA user_version=1;
BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'conductor_studio','0001_first_tables','2026-11-29 19:10:47.195848+00:00');
CREATE TABLE events (
        run_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        kind TEXT NOT NULL,
        data TEXT NOT NULL,
        PRIMARY KEY (run_id, seq)
    ) STRICT;
INSERT INTO "events" VALUES('run_old',1,'run_created','{"run_id":"run_old","seq":1,"at":"2026-03-31T12:00:00.000Z","kind":"run_created","prompt":"How far is the moon?","messages":[],"conductor":"local","pool":null,"pool_snapshot":[],"limits":{"max_steps":null,"max_tokens":null,"max_usd":null,"max_wall_s":null,"max_output_tokens":null,"idle_timeout_s":null,"allow_unpriced":false},"workflow":{"workflow_id":"wf_069fd00209fd1bcfb90772de","parent":null,"prompt":"How far is the moon?","steps":[{"step_id":"s1","position":0,"instruction":"do part 1","worker":"alpha","access":[]},{"step_id":"s2","position":1,"instruction":"do part 2","worker":"beta","access":["s1"]}]},"plan":null,"parent_run":null,"edits":[],"fresh":false,"origin":"page","seed":null,"request_options":{},"plan_options":{}}');
INSERT INTO "events" VALUES('run_old',2,'run_started','{"run_id":"run_old","seq":2,"at":"2026-03-31T12:00:00.000Z","kind":"run_started"}');
INSERT INTO "events" VALUES('run_old',3,'step_queued','{"run_id":"run_old","seq":3,"at":"2026-03-31T12:00:00.000Z","kind":"step_queued","step_id":"s1","attempt":1,"worker":"alpha","messages":[{"role":"user","content":"do part 1"}],"visible":[],"withheld":[]}');
INSERT INTO "events" VALUES('run_old',4,'step_started','{"run_id":"run_old","seq":4,"at":"2026-03-31T12:00:00.000Z","kind":"step_started","step_id":"s1","attempt":1,"worker":"alpha","waited_s":0.0}');
INSERT INTO "events" VALUES('run_old',5,'step_finished','{"run_id":"run_old","seq":5,"at":"2026-03-31T12:00:02.000Z","kind":"step_finished","step_id":"s1","attempt":1,"worker":"alpha","output":"384,000 km","reasoning":"","finish":"stop","usage":{"input_tokens":10,"cached_input_tokens":null,"cache_write_tokens":null,"output_tokens":5,"reasoning_tokens":null},"cost_usd":"0.001","price":null,"served_model":null,"first_token_at":null,"notes":[]}');
INSERT INTO "events" VALUES('run_old',6,'step_queued','{"run_id":"run_old","seq":6,"at":"2026-03-31T12:00:02.000Z","kind":"step_queued","step_id":"s2","attempt":1,"worker":"beta","messages":[{"role":"user","content":"do part 2"}],"visible":["s1"],"withheld":[]}');
INSERT INTO "events" VALUES('run_old',7,'step_started','{"run_id":"run_old","seq":7,"at":"2026-03-31T12:00:02.000Z","kind":"step_started","step_id":"s2","attempt":1,"worker":"beta","waited_s":0.0}');
INSERT INTO "events" VALUES('run_old',8,'step_finished','{"run_id":"run_old","seq":8,"at":"2026-03-31T12:00:04.000Z","kind":"step_finished","step_id":"s2","attempt":1,"worker":"beta","output":"It is 384,000 km away.","reasoning":"","finish":"stop","usage":{"input_tokens":10,"cached_input_tokens":null,"cache_write_tokens":null,"output_tokens":5,"reasoning_tokens":null},"cost_usd":"0.001","price":null,"served_model":null,"first_token_at":null,"notes":[]}');
INSERT INTO "events" VALUES('run_old',9,'run_finished','{"run_id":"run_old","seq":9,"at":"2026-03-31T12:00:04.000Z","kind":"run_finished","final_output":"It is 384,000 km away."}');
CREATE TABLE executors (executor_id TEXT PRIMARY KEY, beat_at TEXT NOT NULL) STRICT;
CREATE TABLE idempotency_keys (key TEXT PRIMARY KEY, run_id TEXT NOT NULL) STRICT;
CREATE TABLE plans (plan_id TEXT PRIMARY KEY, data TEXT NOT NULL) STRICT;
CREATE TABLE remarks (
        run_id TEXT PRIMARY KEY,
        tags TEXT NOT NULL DEFAULT '[]',
        note TEXT,
        rating INTEGER,
        grade TEXT,
        gold TEXT
    ) STRICT;
CREATE TABLE results (
        id INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL,
        step_id TEXT NOT NULL,
        attempt INTEGER NOT NULL,
        key TEXT,
        data TEXT NOT NULL,
        UNIQUE (run_id, step_id, attempt)
    ) STRICT;
CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL UNIQUE,
        root_run TEXT NOT NULL,
        parent_run TEXT,
        plan_id TEXT,
        status TEXT NOT NULL,
        prompt TEXT NOT NULL,
        conductor TEXT NOT NULL,
        origin TEXT NOT NULL,
        workers TEXT NOT NULL,
        n_steps INTEGER NOT NULL,
        topology TEXT,
        cost_usd TEXT,
        cost_complete INTEGER NOT NULL,
        total_tokens INTEGER,
        tokens_complete INTEGER NOT NULL,
        wall_s REAL,
        created_at TEXT NOT NULL,
        finished_at TEXT,
        deleted_at TEXT
    ) STRICT;
INSERT INTO "runs" VALUES(1,'run_old','run_old',NULL,NULL,'succeeded','How far is the moon?','local','page','["alpha","beta"]',2,'chain','0.002',1,30,1,4.0,'2026-03-31T12:00:00.000Z','2026-03-31T12:00:04.000Z',NULL);
CREATE TABLE secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE spending (at TEXT NOT NULL, picodollars INTEGER NOT NULL) STRICT;
CREATE TABLE steps (
        run_id TEXT NOT NULL,
        step_id TEXT NOT NULL,
        round INTEGER NOT NULL,
        worker TEXT,
        status TEXT NOT NULL,
        attempts INTEGER NOT NULL,
        input_tokens INTEGER,
        output_tokens INTEGER,
        cost_usd TEXT,
        served_model TEXT,
        error_kind TEXT,
        started_at TEXT,
        finished_at TEXT,
        reused_run TEXT,
        reused_step TEXT,
        PRIMARY KEY (run_id, step_id)
    ) STRICT, WITHOUT ROWID;
INSERT INTO "steps" VALUES('run_old','s1',1,'alpha','succeeded',1,10,5,'0.001',NULL,NULL,'2026-03-31T12:00:00.000Z','2026-03-31T12:00:02.000Z',NULL,NULL);
INSERT INTO "steps" VALUES('run_old','s2',1,'beta','succeeded',1,10,5,'0.001',NULL,NULL,'2026-03-31T12:00:02.000Z','2026-03-31T12:00:04.000Z',NULL,NULL);
CREATE TABLE texts_so_far (
        run_id TEXT NOT NULL,
        step_id TEXT NOT NULL,
        channel TEXT NOT NULL,
        attempt INTEGER NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (run_id, step_id, channel)
    ) STRICT;
CREATE TABLE workflows (name TEXT PRIMARY KEY, created_at TEXT NOT NULL, data TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE INDEX runs_by_time ON runs (created_at, run_id);
CREATE INDEX runs_by_root ON runs (root_run);
CREATE INDEX runs_by_plan ON runs (plan_id) WHERE plan_id IS NOT NULL;
CREATE INDEX runs_unfinished ON runs (created_at) WHERE finished_at IS NULL;
CREATE INDEX runs_deleted ON runs (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX steps_by_worker ON steps (worker);
CREATE INDEX steps_reused ON steps (reused_run, reused_step) WHERE reused_run IS NOT NULL;
CREATE INDEX results_by_key ON results (key) WHERE key IS NOT NULL;
CREATE INDEX idempotency_keys_by_run ON idempotency_keys (run_id);
CREATE INDEX spending_by_time ON spending (at);
COMMIT;
