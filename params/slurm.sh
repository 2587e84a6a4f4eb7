#!/bin/bash
# Workers for SLURM, to edit like any batch script:  sbatch --array=1-8 params/slurm.sh params/mine.yaml
# Each makes runs that nobody is at. After a time limit, or where one was killed, the same command goes on.
#SBATCH --job-name=lke
#SBATCH --gpus=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=64G
#SBATCH --time=12:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@60
#SBATCH --output=slurm-%A-%a.txt
cd "$SLURM_SUBMIT_DIR" && source .venv/bin/activate || exit 2
# exec, since the signal goes to this process alone.
exec lke run "$1" --offline --leave --worker "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"
