// Calls the clients of @google-cloud/aiplatform as its documentation does.
'use strict';

const assert = require('node:assert');
const {setTimeout: sleep} = require('node:timers/promises');
const aiplatform = require('@google-cloud/aiplatform');

const [part, transport] = process.argv.slice(2);
const {PROJECT: project, REGION: location} = process.env;
const parent = `projects/${project}/locations/${location}`;
const prediction = 'us-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-0:latest';
const model = {displayName: 'm', artifactUri: 'gs://node/model', containerSpec: {imageUri: prediction}};

const client = name =>
  new aiplatform.v1[`${name}ServiceClient`]({
    apiEndpoint: `${location}-aiplatform.googleapis.com`,
    fallback: transport === 'rest',
  });

const pools = (...command) => [
  {
    machineSpec: {machineType: 'n1-standard-4'},
    replicaCount: 1,
    containerSpec: {
      imageUri: 'us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest',
      command,
    },
  },
];

async function ended(get) {
  for (;;) {
    const [found] = await get();
    if (/SUCCEEDED|FAILED|CANCELLED/.test(found.state)) return found;
    await sleep(1000);
  }
}

async function refused(call, code) {
  await assert.rejects(call, error => {
    assert.strictEqual(error.code, code, error.message);
    return true;
  });
}

const parts = {
  async customJob() {
    const jobs = client('Job');
    const jobSpec = {workerPoolSpecs: pools('python', '-c', 'print(1)')};
    const [made] = await jobs.createCustomJob({parent, customJob: {displayName: 'n', jobSpec}});
    const {name} = made;
    assert.strictEqual((await ended(() => jobs.getCustomJob({name}))).state, 'JOB_STATE_SUCCEEDED');
    const [listed] = await jobs.listCustomJobs({parent, filter: 'display_name="n"'});
    assert(listed.some(job => job.name === name));
    const [operation] = await jobs.deleteCustomJob({name});
    await operation.promise();
    await refused(() => jobs.getCustomJob({name}), 5);
    await refused(() => jobs.createCustomJob({parent, customJob: {}}), 3);
  },

  async hyperparameterTuningJob() {
    const jobs = client('Job');
    const [made] = await jobs.createHyperparameterTuningJob({
      parent,
      hyperparameterTuningJob: {
        displayName: 'n',
        maxTrialCount: 2,
        parallelTrialCount: 2,
        studySpec: {
          metrics: [{metricId: 'loss', goal: 'MINIMIZE'}],
          parameters: [{parameterId: 'lr', doubleValueSpec: {minValue: 0.1, maxValue: 1}}],
        },
        trialJobSpec: {
          workerPoolSpecs: pools(
            'python',
            '-c',
            "import hypertune; hypertune.HyperTune().report_hyperparameter_tuning_metric('loss', 1)"
          ),
        },
      },
    });
    const {name} = made;
    const done = await ended(() => jobs.getHyperparameterTuningJob({name}));
    assert.strictEqual(done.state, 'JOB_STATE_SUCCEEDED');
    assert.deepStrictEqual(done.trials.map(trial => trial.finalMeasurement.metrics[0].value), [1, 1]);
    const [operation] = await jobs.deleteHyperparameterTuningJob({name});
    await operation.promise();
  },

  async trainingPipeline() {
    const pipelines = client('Pipeline');
    const inputs = {
      workerPoolSpecs: pools('sh', '-c', 'echo a model > /gcs/node/out/model/model.txt'),
      baseOutputDirectory: {outputUriPrefix: 'gs://node/out'},
    };
    const [made] = await pipelines.createTrainingPipeline({
      parent,
      trainingPipeline: {
        displayName: 'n',
        trainingTaskDefinition:
          'gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml',
        trainingTaskInputs: aiplatform.helpers.toValue(inputs),
        modelToUpload: {displayName: 'trained', containerSpec: {imageUri: prediction}},
      },
    });
    const {name} = made;
    const done = await ended(() => pipelines.getTrainingPipeline({name}));
    assert.strictEqual(done.state, 'PIPELINE_STATE_SUCCEEDED');
    const [trained] = await client('Model').getModel({name: done.modelToUpload.name});
    assert.strictEqual(trained.artifactUri, 'gs://node/out/model/');
    const [listed] = await pipelines.listTrainingPipelines({parent});
    assert(listed.some(pipeline => pipeline.name === name));
    const [operation] = await pipelines.deleteTrainingPipeline({name});
    await operation.promise();
  },

  async model() {
    const models = client('Model');
    const [upload] = await models.uploadModel({parent, model});
    const [{model: name}] = await upload.promise();
    await models.updateModel({model: {name, description: 'd'}, updateMask: {paths: ['description']}});
    await models.mergeVersionAliases({name: `${name}@1`, versionAliases: ['best']});
    const [versions] = await models.listModelVersions({name});
    assert.deepStrictEqual(versions[0].versionAliases, ['default', 'best']);
    assert.strictEqual(versions[0].description, 'd');
    const [evaluations] = await models.listModelEvaluations({parent: name});
    assert.deepStrictEqual(evaluations, []);
    const [operation] = await models.deleteModel({name});
    await operation.promise();
    await refused(() => models.getModel({name}), 5);
  },

  async study() {
    const vizier = client('Vizier');
    const [{name}] = await vizier.createStudy({
      parent,
      study: {
        displayName: `n-${transport}`,
        studySpec: {
          metrics: [{metricId: 'loss', goal: 'MINIMIZE'}],
          parameters: [{parameterId: 'x', doubleValueSpec: {minValue: 0, maxValue: 1}}],
        },
      },
    });
    const [asked] = await vizier.suggestTrials({parent: name, suggestionCount: 2, clientId: 'n'});
    const [{trials}] = await asked.promise();
    for (const [index, trial] of trials.entries()) {
      const metrics = [{metricId: 'loss', value: index}];
      await vizier.completeTrial({name: trial.name, finalMeasurement: {metrics}});
    }
    const [{optimalTrials}] = await vizier.listOptimalTrials({parent: name});
    assert.deepStrictEqual(optimalTrials.map(trial => trial.name), [trials[0].name]);
    await vizier.deleteStudy({name});
  },

  async tensorboard() {
    const boards = client('Tensorboard');
    const [made] = await boards.createTensorboard({parent, tensorboard: {displayName: 'n'}});
    const [{name}] = await made.promise();
    const [listed] = await boards.listTensorboards({parent});
    assert(listed.some(board => board.name === name));
    const [operation] = await boards.deleteTensorboard({name});
    await operation.promise();
  },

  async endpoint() {
    const endpoints = client('Endpoint');
    assert.deepStrictEqual((await endpoints.listEndpoints({parent}))[0], []);
    const name = `${parent}/endpoints/1`;
    await refused(() => endpoints.getEndpoint({name}), 5);
    await refused(() => endpoints.createEndpoint({parent, endpoint: {displayName: 'n'}}), 9);
    await refused(() => client('Prediction').predict({endpoint: name, instances: []}), 5);
  },
};

parts[part]();
